package m;

import static org.junit.Assert.*;

import org.junit.Before;
import org.junit.Test;

public class OldTest {
    @Before
    public void prepare() {
        if (System.getProperty("prepared") == null) {
            throw new IllegalArgumentException("not prepared");
        }
    }

    @Test
    public void never() {}
}
