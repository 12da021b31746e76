package m;

import static org.junit.jupiter.api.Assertions.*;

import java.util.stream.Stream;
import m.later.Lib;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class NewNameTest {
    @Test
    void stands() {
        assertEquals(2, Calc.twice(1));
    }

    @Test
    void method() {
        assertEquals(3, Calc.thrice(1));
    }

    @Test
    void arity() {
        assertEquals(3, Calc.twice(1, 2));
    }

    @Test
    void type() {
        Fresh f = new Fresh();
        assertNotNull(f);
    }

    @Test
    void imported() {
        Lib.go();
    }

    static int helper() {
        return Calc.LIMIT;
    }

    @Test
    void helped() {
        assertEquals(1, helper());
    }

    static Stream<Integer> given() {
        return Calc.all();
    }

    @ParameterizedTest
    @MethodSource("given")
    void sourced(int x) {}
}
